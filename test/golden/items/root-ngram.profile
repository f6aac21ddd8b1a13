step                                                       estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                                   0        0      1
  root set: ngram words "amber basin cedar" (index ngram)          0        0      1               1                taken: found all
  level 0                                                          0
    countUid
cost 1 expected, 1 read
