interface FirstResponse<Candidate, Response> {
  readonly response: Response
  readonly from: Candidate
  readonly isFromHedge: boolean
}

interface HedgedRequest<Candidate, Response> {
  readonly candidates: readonly Candidate[]
  send(candidate: Candidate): Promise<Response>
  /** After this delay without a response the next candidate is asked as well, if allowed; null: never. */
  readonly hedge: { readonly afterMs: number; isAllowed(): boolean } | null
}

/** Asks the candidates in order until one responds; rejects with the last error when none does. */
export const findFirstResponse = <Candidate, Response>({
  candidates,
  send,
  hedge,
}: HedgedRequest<Candidate, Response>): Promise<FirstResponse<Candidate, Response>> =>
  new Promise((resolve, reject) => {
    const remaining = [...candidates]
    let running = 0
    let timer: NodeJS.Timeout | undefined

    const sendNext = () => {
      const candidate = remaining.shift()
      if (candidate === undefined) return
      running += 1
      send(candidate).then(
        (response) => {
          running -= 1
          clearTimeout(timer)
          remaining.length = 0
          resolve({ response, from: candidate, isFromHedge: running > 0 && candidate !== candidates[0] })
        },
        (error: unknown) => {
          running -= 1
          if (running > 0) return
          if (remaining.length > 0) sendNext()
          else {
            clearTimeout(timer)
            reject(error)
          }
        },
      )
    }

    if (candidates.length === 0) reject(new Error('No endpoint is available'))
    sendNext()
    if (hedge !== null && remaining.length > 0) {
      timer = setTimeout(() => hedge.isAllowed() && sendNext(), hedge.afterMs)
    }
  })
