step                                                                              estimated   in  out  times  records  lists  tokens  uids
block 0: query q                                                                        300       250      1      300
  root set: within place "[[[0,0],[5.5,0],[5.5,5.5],[0,5.5],[0,0]]]" (index geo)        300       300      1              21           300  taken: found all
  level 0                                                                               300  250  250      1
    countUid
cost 303 expected, 323 read
