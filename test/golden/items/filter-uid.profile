step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                3        1      1                      19
  root set: ge price "880" (index int)         62   3    1      1        3                       tested by the nodes' own values
    or uid 10 500 53                            3        3      1                                taken: found all
  filter uid 10 500 53                          3
  level 0                                       3   1    1      1
    uid
cost 4 expected, 13 read
