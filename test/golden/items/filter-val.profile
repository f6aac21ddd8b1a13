step                                    estimated  in  out  times  records  lists  tokens  uids
v as block 0: var                              30       30      1
  root set: ge price "890" (index int)         30       30      1                      10    30  taken: found all
  level 0                                      30  30   30      1       30
    p as value price one
block 1: query q                               30        6      1
  root set: uid v                              30       30      1                                taken: found all
  filter gt val p "897"                        30  30    6      1                                tested by sets and indexes
  level 1                                      30   6    6      1
    uid
    val p
cost 33 expected, 36 read
