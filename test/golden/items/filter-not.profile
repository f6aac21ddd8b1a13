step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                               26       49      1
  root set: ge price "880" (index int)         62       62      1                      19    62  taken: found all
  filter not or                                26  62   49      1
    eq stars "2" (index int)                   12  62   13      1               1            13  tested by sets and indexes
    has note                                   30  62    0      1       62                       tested by the nodes' own values
  level 0                                      26  49   49      1
    countUid
cost 64 expected, 73 read
