step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                               30        0      1
  root set: ge price "880" (index int)         62       62      1                      19    62  taken: found all
  filter has note                              30  62    0      1       62                       tested by the nodes' own values
  level 0                                      30
    uid
block 1: query c                               62       15      1
  root set: ge price "880" (index int)         62       62      1                      19    62  taken: found all
  filter has ~parts                            62  62   15      1       62                       tested by the nodes' own values
  level 1                                      62  15   15      1
    countUid
cost 127 expected, 144 read
