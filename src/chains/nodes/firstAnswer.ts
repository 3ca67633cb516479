/** An answer, who gave it, and whether somebody who was asked earlier is still silent. */
export interface FirstAnswer<Candidate, Answer> {
  readonly answer: Answer
  readonly by: Candidate
  readonly isFromHedge: boolean
}

/** Whom to ask, in order, and how. */
export interface Question<Candidate, Answer> {
  readonly candidates: readonly Candidate[]
  ask(candidate: Candidate): Promise<Answer>
  /** After so long a silence of the first, the second is asked too if that is allowed then; null for never. */
  readonly hedge: { readonly afterMs: number; isAllowed(): boolean } | null
}

/** Asks one candidate after another until one answers; rejects with the last failure when none does. */
export const findFirstAnswer = <Candidate, Answer>({
  candidates,
  ask,
  hedge,
}: Question<Candidate, Answer>): Promise<FirstAnswer<Candidate, Answer>> =>
  new Promise((resolve, reject) => {
    const remaining = [...candidates]
    let running = 0
    let timer: NodeJS.Timeout | undefined

    const launch = () => {
      const candidate = remaining.shift()
      if (candidate === undefined) return
      running += 1
      ask(candidate).then(
        (answer) => {
          running -= 1
          clearTimeout(timer)
          remaining.length = 0
          resolve({ answer, by: candidate, isFromHedge: running > 0 && candidate !== candidates[0] })
        },
        (error: unknown) => {
          running -= 1
          if (running > 0) return
          if (remaining.length > 0) launch()
          else {
            clearTimeout(timer)
            reject(error)
          }
        },
      )
    }

    if (candidates.length === 0) reject(new Error('There is nobody to ask'))
    launch()
    if (hedge !== null && remaining.length > 0) {
      timer = setTimeout(() => hedge.isAllowed() && launch(), hedge.afterMs)
    }
  })
