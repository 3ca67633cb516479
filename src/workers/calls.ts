import { startDeadline } from '../concurrency/deadline.js'

/** Questions to another process, and its answers by number. */
export interface Calls<Answer> {
  /** Rejects if there is no answer in time; `onLate` gets one that comes afterwards. */
  call(send: (id: number) => void, onLate?: (answer: Answer) => void): Promise<Answer>
  answer(id: number, answer: Answer): void
}

// One that does not answer may never do.
const maxLate = 100

export const createCalls = <Answer>(deadlineMs: number): Calls<Answer> => {
  const waiting = new Map<number, (answer: Answer) => void>()
  const late = new Map<number, (answer: Answer) => void>()
  let last = 0

  const expectLate = (id: number, onLate: (answer: Answer) => void): void => {
    late.set(id, onLate)
    const [oldest] = late.keys()
    if (late.size > maxLate && oldest !== undefined) late.delete(oldest)
  }

  return {
    answer: (id, answer) => {
      const onAnswer = waiting.get(id) ?? late.get(id)
      late.delete(id)
      onAnswer?.(answer)
    },
    call: (send, onLate) =>
      new Promise((resolve, reject) => {
        last += 1
        const id = last
        const deadline = startDeadline(deadlineMs, () => {
          waiting.delete(id)
          if (onLate !== undefined) expectLate(id, onLate)
          reject(new Error('The other process does not answer'))
        })
        waiting.set(id, (answer) => {
          deadline.end()
          waiting.delete(id)
          resolve(answer)
        })
        send(id)
      }),
  }
}
