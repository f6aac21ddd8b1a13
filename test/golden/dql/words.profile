step                                                        estimated  in  out  times  records  lists  tokens  uids
block 0: query a                                                    2        2      1
  root set: anyofterms title "engine islands" (index term)          2        2      1        2      2             2  taken: found all
  level 0                                                           2   2    2      1        2
    value title one
block 1: query b                                                             1      1        1
  root set: regexp title "har.ou" (index trigram)                            1      1               9             1  taken: found all
  level 1                                                               1    1      1        1
    value title one
block 2: query c                                                    1        1      1               1
  root seek: eq dgraph.type "Book" (index exact)                    5        5      1               1             5  taken: found all
    or allofterms title "salt roads" (index term)                   1
  filter allofterms title "salt roads" (index term)                 1   5    1      1        5                       tested by the nodes' own values
  level 2                                                           1   1    1      1        1
    value title@fr:. one
cost 10 expected, 26 read
