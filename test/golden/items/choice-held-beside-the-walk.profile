step                                                estimated   in  out  times  records  lists  tokens  uids
block 0: query q                                            4         4      1               3
  root walk: anyofterms words "amber" (index term)        500       500      1               1           500  taken: found all
    or eq open "true" (index bool)                       1500
  filter eq open "true" (index bool)                      250  500  500      1               1           500  tested by sets and indexes
  order by price desc (index int)                         250  500    4      1      500                       selected by a heap
  page first 4
  level 0                                                   4    4    4      1        4
    uid
    value price one
cost 261 expected, 514 read
