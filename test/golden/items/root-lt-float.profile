step                                        estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                   22       15      1
  root set: lt weight "0.25" (index float)         22       15      1                       3    22  taken: found all
  level 0                                          22  15   15      1
    countUid
cost 2 expected, 2 read
