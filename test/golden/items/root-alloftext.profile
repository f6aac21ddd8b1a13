step                                                          estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                                      3        0      1
  root set: alloftext words "basins cedars" (index fulltext)       1000        0      1               4          1000  taken: tested as far as the page
  page first 3
  level 0                                                             3
    uid
    value words one
cost 9 expected, 9 read
