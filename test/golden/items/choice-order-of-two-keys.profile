step                                      estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                  5        5      1                      19
  root walk: ge price "880" (index int)          62       62      1                      19    62  taken: found all
  order by stars, price desc (index int)         62  62    5      1       62                       selected by a heap
  page first 5
  level 0                                         5   5    5      1        5
    uid
    value stars one
    value price one
cost 69 expected, 87 read
