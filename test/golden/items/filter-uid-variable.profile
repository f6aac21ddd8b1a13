step                                    estimated   in  out  times  records  lists  tokens  uids
v as block 0: var                             600       600      1
  root seek: eq stars "2" (index int)         600       600      1               1           600  taken: found all
  level 0                                     600  600  600      1
block 1: query q                                0        24      1
  root set: ge price "890" (index int)         30        30      1                      10    30  taken: found all
  filter not uid v                              0   30   24      1
  level 1                                       0   24   24      1       24
    uid
    value stars one
cost 6 expected, 34 read
