step                                                  estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                            500        0      1               3
  root seek: eq dgraph.type "Item" (index exact)           3000
    or allofterms words "amber cedar" (index term)          500        0      1               4           500  taken: found all
  filter allofterms words "amber cedar" (index term)        500
  level 0                                                   500
    countUid
cost 7 expected, 10 read
