step                                    estimated  in  out  times  records  lists  tokens  uids
v as block 0: var                              15       15      1
  root set: ge price "895" (index int)         15       15      1                       5    15  taken: found all
  level 0                                      15  15   15      1       15
    s as value stars one
    c as math (cond (> s 3) 1 0)
block 1: query q                               15       15      1
  root set: uid v                              15       15      1                                taken: found all
  level 1                                      15  15   15      1
    uid
    val c
cost 18 expected, 18 read
