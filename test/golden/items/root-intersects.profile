step                                                                                  estimated   in  out  times  records  lists  tokens  uids
block 0: query q                                                                            150       100      1      150
  root set: intersects place "[[[0,0],[2.5,0],[2.5,2.5],[0,2.5],[0,0]]]" (index geo)        150       150      1              71           150  taken: found all
  level 0                                                                                   150  100  100      1
    countUid
cost 152 expected, 222 read
