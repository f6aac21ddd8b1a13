step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                              312        4      1      312
  root set: ge price "800" (index int)        312      312      1                      95   312  taken: found all
  group by kind, open
    count
  level 0                                     312
cost 315 expected, 362 read
