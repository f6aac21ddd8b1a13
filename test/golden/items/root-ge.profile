step                                    estimated  in  out  times  records  lists  tokens  uids
block 0: query q                               15       15      1
  root set: ge price "895" (index int)         15       15      1                       5    15  taken: found all
  level 0                                      15  15   15      1       15
    uid
    value price one
cost 17 expected, 18 read
