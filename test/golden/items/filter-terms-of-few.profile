step                                                  estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                              1        2      1               1
  root seek: eq code "c7" (index hash)                        2        2      1               1             2  taken: found all
    or anyofterms words "amber fjord" (index term)         1500
  filter anyofterms words "amber fjord" (index term)          1   2    2      1               2             2  tested by sets and indexes
  level 0                                                     1   2    2      1        2
    uid
    value words one
cost 4 expected, 7 read
