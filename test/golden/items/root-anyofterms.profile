step                                                     estimated    in   out  times  records  lists  tokens  uids
block 0: query q                                              1500        1500      1
  root set: anyofterms words "amber fjord" (index term)       1500        1500      1               2          1500  taken: found all
  level 0                                                     1500  1500  1500      1
    countUid
cost 9 expected, 10 read
