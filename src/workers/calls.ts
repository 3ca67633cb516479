/** Questions to another process, and its answers by number. */
export interface Calls<Answer> {
  /** Rejects if there is no answer in time. */
  call(send: (id: number) => void): Promise<Answer>
  answer(id: number, answer: Answer): void
}

export const createCalls = <Answer>(deadlineMs: number): Calls<Answer> => {
  const waiting = new Map<number, (answer: Answer) => void>()
  let last = 0
  return {
    answer: (id, answer) => waiting.get(id)?.(answer),
    call: (send) =>
      new Promise((resolve, reject) => {
        last += 1
        const id = last
        const timer = setTimeout(() => {
          waiting.delete(id)
          reject(new Error('The other process does not answer'))
        }, deadlineMs)
        waiting.set(id, (answer) => {
          clearTimeout(timer)
          waiting.delete(id)
          resolve(answer)
        })
        send(id)
      }),
  }
}
