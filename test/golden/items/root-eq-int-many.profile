step                                              estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                          6        6      1
  root set: eq price "17" "20" "899" (index int)          7        7      1               3             7  taken: tested as far as the page
  page first 6
  level 0                                                 6   6    6      1        6
    uid
    value price one
cost 8 expected, 10 read
