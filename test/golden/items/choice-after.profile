step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                3        3      1
  root set: ge price "890" (index int)         30       10      1                      10    30  taken: tested as far as the page
  page first 3 after 2000
  level 0                                       3   3    3      1        3
    uid
    value price one
cost 5 expected, 9 read
