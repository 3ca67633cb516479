const defaultDeadlineMs = 20_000
const pauseMs = 25

export const pollUntil = async <T>(
  ask: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  what: string,
  deadlineMs = defaultDeadlineMs,
): Promise<T> => {
  const deadline = Date.now() + deadlineMs
  for (;;) {
    const answer = await ask()
    if (answer !== null && answer !== undefined && answer !== false) return answer
    if (Date.now() > deadline) throw new Error(`Waited ${deadlineMs / 1_000} s for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
