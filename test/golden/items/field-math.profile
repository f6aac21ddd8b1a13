step                                    estimated  in  out  times  records  lists  tokens  uids
v as block 0: var                              30       30      1
  root set: ge price "890" (index int)         30       30      1                      10    30  taken: found all
  level 0                                      30  30   30      1       30
    p as value price one
    s as value stars one
    m as math (+ (* p 2) (- s 1))
block 1: query q                                3        3      1
  root set: uid v                              30       30      1                                taken: found all
  order by val m desc                          30  30    3      1                                selected by a heap
  page first 3
  level 1                                       3   3    3      1
    val m
cost 33 expected, 36 read
