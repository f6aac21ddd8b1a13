step                                                     estimated  in  out  times  records  lists  tokens  uids
block 0: query q                                                 3        0      1
  root set: allofterms words "amber cedar" (index term)        500        0      1               4           500  taken: tested as far as the page
  page first 3
  level 0                                                        3
    uid
    value words one
cost 7 expected, 7 read
