step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                               62       12      1       62
  root set: ge price "880" (index int)         62       62      1                      19    62  taken: found all
  group by maker
    count
  level 0                                      62
cost 64 expected, 72 read
