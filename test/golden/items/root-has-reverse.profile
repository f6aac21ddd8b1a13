step                     estimated  in  out  times  records  lists  tokens  uids
block 0: query q                12       12      1
  root seek: has ~maker         12       12      1               1            12  taken: found all
  level 0                       12  12   12      1
    uid
cost 2 expected, 2 read
