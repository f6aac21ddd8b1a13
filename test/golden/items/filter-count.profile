step                                     estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                 3        6      1                      10
  root set: ge price "890" (index int)          30       30      1                      10    30  taken: found all
    or eq count parts 0 (index count)
  filter eq count parts 0 (index count)          3  30    6      1       30                       tested by the nodes' own values
  level 0                                        3   6    6      1
    uid
cost 32 expected, 41 read
