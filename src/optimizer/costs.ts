/**
 * What the optimizer weighs, in one place: how many members of a list cost as much as a candidate, how far
 * it is worth counting before a choice is made. Measured on the workloads of `bench/`; unless something else is said,
 * the unit is nodes. A wrong one costs time, never an answer: each choice gives the same nodes.
 */

// Roots: which index is asked, or whether the nodes are walked in the order asked for.

/** A root of so few nodes is taken without looking further. */
export const rootEnough = 48;

/** Tokens of a range that are counted before it is given up as large. */
export const rangeTokensCounted = 128;

/** Members of a count index that are read to know how many there are. */
export const countMembersScanned = 4096;

/** Nodes whose edges are counted to know how many a node has. */
export const edgeSampleNodes = 32;

/** Where in a list they are taken. */
export const edgeSamplePlaces = 8;

/** What passes a filter of which nothing is known, as databases have long guessed. */
export const filterPassShare = 1 / 3;

/** What passes an eq whose list is not known. */
export const equalShare = 0.1;

/** What lies between two values. */
export const betweenShare = 0.25;

/** What an expression, or a text nearly the same, finds. */
export const expressionShare = 0.1;

/** A member of a list, in records: reading a node's record costs as much as so many members. */
export const membersPerRecord = 200;

/** So few candidates are sorted rather than looked for along an index. */
export const sortedBelow = 256;

/** Candidates for each node of a page, up to which they are sorted. */
export const sortedPerWanted = 8;

/** Reading and sorting a node costs as much as stepping over so many in an index: 2 µs, where most tokens have one. */
export const stepsPerRecord = 2;

/** A choice of at most so many nodes is read once and held beside the walk, instead of being asked about each batch. */
export const walkHeldMax = 50_000;

// Filters: whether an index is asked, or the values of the candidates are read.

/** From so many candidates on an index is intersected instead of reading each record. */
export const listsFrom = 192;

/** A list is read for one candidate in so many of its members; for fewer, their values are. */
export const membersPerCandidate = 64;

/** A step along an index costs as much as so many of its members, and as four candidates' values at hand. */
export const membersPerStep = 10;

/** Cells of a geo query that are counted before it is taken for a wide one. */
export const geoCellsCounted = 64;

/** So few texts are split into words rather than looked for in lists that are not at hand. */
export const textsSplit = 16;

/** The list of those that have it may be so many times longer than the candidates. */
export const presencePerCandidate = 64;

/** Up to so many targets, the lists of those who point at them are intersected where there are any. */
export const reverseTargetsMax = 64;

/** A member of a count index costs a sixteenth of what counting a candidate's edges does, and is often read in vain. */
export const countMembersPerCandidate = 16;

/** Cells, and lists that leave a value open, are asked where they leave less than one candidate in so many. */
export const candidatesPerOpenMember = 2;

/** Counting the heads of a range may cost one part in so many of reading the candidates. */
export const candidatesPerHead = 4;

/** Nodes that are looked at to find the test to begin with. */
export const filterSampleRows = 64;

/** From so many candidates on it is worth finding out. */
export const filterSampleFrom = 2048;

/** A test that leaves less than this share is read before the others. */
export const leadShare = 1 / 2;

// Orders and values: whether a column is read from an index, or from the nodes' records.

/** Fewer nodes than this are read from their records. */
export const indexedFrom = 512;

/** Nodes for each different value, at least. */
export const nodesPerToken = 8;

/** Members of the index for each node asked, at most. */
export const membersPerNode = 64;

/** Counts of tokens are guesses that cost a scan: they are kept for so many commits. */
export const tokenCountsKept = 10_000;

/** Indexes of more tokens are never read as columns, so counting ends here. */
export const columnTokensMax = 4096;

/** A list so many times as long as the other is searched for its members instead of walked. */
export const gallopFactor = 16;

/** So many edges for each member, at least, for members to be sorted instead of edges. */
export const edgesPerMember = 2;
