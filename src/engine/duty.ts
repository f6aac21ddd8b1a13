/** Whether this process does what one process of a store does: it may be turned on and off while it runs. */
export interface Duty {
  readonly isOn: boolean;
  onTurn(listener: (isOn: boolean) => void): void;
}

/** Of a process that does it for as long as it lives, or never. */
export function fixedDuty(isOn: boolean): Duty {
  return { isOn, onTurn() {} };
}
