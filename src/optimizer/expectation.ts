/** What is expected so far: by the parts of a plan, by variables, and of the store. */
export class Expectation {
  found = new Map<object, number>();
  orders = new Map<object, readonly object[]>();
  /** Nodes of each variable, as far as they are known. */
  variables = new Map<number, number>();
  readonly reads = { records: 0, lists: 0, tokens: 0, uids: 0 };

  /** Goes on with what is known, in copies that `restore` throws away; reads stay. */
  forget(): Pick<Expectation, "found" | "orders" | "variables"> {
    const { found, orders, variables } = this;
    this.found = new Map(found);
    this.orders = new Map(orders);
    this.variables = new Map(variables);
    return { found, orders, variables };
  }

  restore({ found, orders, variables }: Pick<Expectation, "found" | "orders" | "variables">): void {
    this.found = found;
    this.orders = orders;
    this.variables = variables;
  }
}
