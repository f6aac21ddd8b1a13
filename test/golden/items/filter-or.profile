step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                               29       30      1
  root set: ge price "880" (index int)         62       62      1                      19    62  taken: found all
  filter or                                    29  62   30      1
    eq stars "2" (index int)                   12  62   13      1               1            13  tested by sets and indexes
    eq kind "lamp" (index exact)               21  62   20      1               1            20  tested by sets and indexes
  level 0                                      29  30   30      1
    countUid
cost 64 expected, 12 read
