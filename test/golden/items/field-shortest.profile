step                             estimated  in  out  times  records  lists  tokens  uids
p as block 0: shortest shortest                   1      1
  shortest paths                                  1      1       46
  level 0
    edge parts
    edge maker single
block 1: query q                                  5      1
  root set: uid p                                 5      1                                taken: found all
  level 1                                    5    5      1
    uid
cost 5251 expected, 46 read
