/** What /ui/keywords lists for editors of queries. */
const names =
  "@cascade @facets @filter @if @normalize after allofterms alloftext and anyofterms anyoftext as avg ceil cond contains count delete eq exact exp expand first floor fulltext func ge gt index intersects le len ln logbase lt math max min mutation near ngram not offset or orderasc orderdesc pow recurse regexp reverse schema since set sqrt sum term tokenizer type uid within upsert";

export const uiKeywords = JSON.stringify({
  keywords: names.split(" ").map((name) => ({ type: "", name })),
});
