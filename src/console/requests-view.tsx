/** The requests that run now, with what each has cost so far, and the end of one. */
import { type ReactNode, useState } from "react";
import { type ListedRequest, listedFields } from "../model/listed-request.ts";
import { askAdmin } from "./ask.ts";
import { Empty, Loading, printBytes, printCount, printMs, Refusal, ViewHead } from "./parts.tsx";
import type { RefusedByServer } from "./refused.ts";
import { toRefusal, useAnswer, useEvery } from "./use.ts";

const query = `query ConsoleRequests { runningRequests { ${listedFields} } }`;
const everyMs = 2000;

export function RequestsView(): ReactNode {
  const [isPaused, setPaused] = useState(false);
  const [failure, setFailure] = useState<RefusedByServer>();
  const { data, refusal, reload } = useAnswer("requests", (signal) =>
    askAdmin<{ runningRequests: readonly ListedRequest[] }>(query, {}, signal),
  );
  useEvery(isPaused || refusal !== undefined ? 0 : everyMs, reload);
  const end = async (id: string): Promise<void> => {
    setFailure(undefined);
    try {
      await askAdmin("mutation($id: ID!) { cancelRequests(input: { id: $id }) { count } }", { id });
      reload();
    } catch (error) {
      setFailure(toRefusal(error));
    }
  };
  // This very question runs, too.
  const running = data?.runningRequests.filter(
    ({ text }) => text?.includes("ConsoleRequests") !== true,
  );
  return (
    <div className="view">
      <ViewHead title="Requests">
        <span className="quiet" role="status">
          {running === undefined ? "" : `${printCount(running.length)} running`}
        </span>
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? "Go on" : "Pause"}
        </button>
      </ViewHead>
      {refusal !== undefined && <Refusal refusal={refusal} />}
      {failure !== undefined && <Refusal refusal={failure} />}
      {running === undefined && refusal === undefined && <Loading what="requests" />}
      {running?.length === 0 && (
        <Empty>Nothing runs now but this question. The list is asked for every two seconds.</Empty>
      )}
      {running !== undefined && running.length > 0 && (
        <RunningTable running={running} onEnd={(id) => void end(id)} />
      )}
    </div>
  );
}

function RunningTable({
  running,
  onEnd,
}: {
  running: readonly ListedRequest[];
  onEnd: (id: string) => void;
}): ReactNode {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Running requests">
      <table>
        <thead>
          <tr>
            <th scope="col">Operation</th>
            <th scope="col">By</th>
            <th scope="col" className="number">
              Time
            </th>
            <th scope="col" className="number">
              Work
            </th>
            <th scope="col" className="number">
              Memory
            </th>
            <th scope="col">Text</th>
            <th scope="col">Process</th>
            <th scope="col">
              <span className="unseen">End it</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {running.map((one) => (
            <tr key={one.id}>
              <th scope="row">
                {one.operation}{" "}
                {one.tag !== null && <span className="badge is-plain">{one.tag}</span>}
              </th>
              <td>{one.user ?? one.key ?? one.address}</td>
              <td className="number">{printMs(one.ms)}</td>
              <td className="number">{printCount(one.work)}</td>
              <td className="number">{printBytes(one.bytes)}</td>
              <td className="cut" title={one.text ?? ""}>
                <code>{one.text}</code>
              </td>
              <td>{one.process}</td>
              <td>
                <button
                  type="button"
                  className="danger"
                  aria-label={`End ${one.operation} ${one.id}`}
                  onClick={() => onEnd(one.id)}
                >
                  End
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
