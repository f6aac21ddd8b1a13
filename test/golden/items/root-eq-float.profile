step                                        estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                    7        7      1
  root seek: eq weight "2.5" (index float)          7        7      1               1                taken: counted in the head of its list
  level 0                                           7
    countUid
cost 2 expected, 1 read
