step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                3        3      1                      10
  root set: ge price "890" (index int)         30       30      1                      10    30  taken: found all
    or uid_in maker 5                         250
  filter uid_in maker 5                         3  30    3      1               1             3  tested by sets and indexes
  level 0                                       3   3    3      1        3
    uid
    edge maker single                           3   3    3      1
      level 1                                   3   1    1      1
        uid
cost 6 expected, 15 read
