/** Whether the agent of a session of the crash test gives no reply to its last turn. */
export function isMute(sid: string): boolean {
  return Number(sid.split('-')[1]) % 5 === 4;
}
