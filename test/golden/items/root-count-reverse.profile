step                                         estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                     3        3      1
  root set: ge count ~parts 9 (index count)        225      225      1                       3   225  taken: tested as far as the page
  page first 3
  level 0                                            3   3    3      1        3
    uid
    count ~parts
cost 6 expected, 6 read
