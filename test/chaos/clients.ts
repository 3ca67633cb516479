import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, isFinal } from './answers.js'
import type { Payment } from './payments.js'
import type { World } from './world.js'

interface ClientContext {
  readonly instances: World['instances']
  readonly account: World['account']
  readonly onAnswer: (answer: Answer) => void
  readonly stopRetrying: AbortSignal
}

interface Attempt {
  readonly instance: 0 | 1
  readonly key: string | null
  readonly hangUpAfterMs?: number
}

const answerDeadlineMs = 15_000

let requests = 0

/** Runs one client until its result is final or retries are stopped. */
export const runClient = async (payment: Payment, context: ClientContext): Promise<void> => {
  const { random, behavior, first } = payment
  const other = first === 0 ? 1 : 0
  const key = `${payment.name}-${random.hex(4).slice(2)}`
  const rivalKey = `${key}-rival`
  const hangUp = { hangUpAfterMs: random.integer(5, 1_500) }
  const [mine, theirs] = [random.fork(), random.fork()]
  const until = (attempt: Attempt, choices = mine) =>
    requestUntilFinal(payment, attempt, { ...context, choices })

  switch (behavior) {
    case 'once':
      await sendRequest(payment, { instance: first, key: null }, context)
      return
    case 'persistent':
      await until({ instance: first, key: null })
      return
    case 'hangsUp':
      await sendRequest(payment, { instance: first, key: null, ...hangUp }, context)
      await until({ instance: other, key: null })
      return
    case 'keyed':
      await until({ instance: first, key })
      await until({ instance: other, key })
      return
    case 'keyedHangsUp':
      await sendRequest(payment, { instance: first, key, ...hangUp }, context)
      await until({ instance: other, key })
      return
    case 'twins':
      await Promise.all([until({ instance: 0, key: null }), until({ instance: 1, key: null }, theirs)])
      return
    case 'keyedTwins':
      await Promise.all([until({ instance: 0, key }), until({ instance: 1, key }, theirs)])
      return
    case 'rivals':
      await Promise.all([until({ instance: 0, key }), until({ instance: 1, key: rivalKey }, theirs)])
      return
  }
}

const requestUntilFinal = async (
  payment: Payment,
  attempt: Attempt,
  { choices, ...context }: ClientContext & { readonly choices: Payment['random'] },
): Promise<void> => {
  let { instance } = attempt
  for (;;) {
    const answer = await sendRequest(payment, { ...attempt, instance }, context)
    if (isFinal(answer) || context.stopRetrying.aborted) return
    await sleep(choices.integer(100, 800))
    instance = choices.pick([0, 1])
  }
}

const sendRequest = async (
  { name, authorizationId, body, hasAccount }: Payment,
  { instance, key, hangUpAfterMs = answerDeadlineMs }: Attempt,
  { instances, account, onAnswer }: ClientContext,
): Promise<Answer> => {
  requests += 1
  const request = { payment: name, authorizationId, key, consumer: key ?? `request ${requests}` }
  const sentAt = Date.now()
  const headers = {
    ...(hasAccount ? { 'x-api-key': account.apiKey } : {}),
    ...(key === null ? {} : { 'idempotency-key': key }),
  }
  const received = await post(instances[instance].url, { body, headers, deadlineMs: hangUpAfterMs })
  const answer = {
    ...request,
    instance: instances[instance].name,
    sentAt,
    receivedAt: Date.now(),
    ...received,
  }
  onAnswer(answer)
  return answer
}

interface SettleRequest {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  readonly deadlineMs: number
}

const post = async (
  url: string,
  { body, headers, deadlineMs }: SettleRequest,
): Promise<Pick<Answer, 'status' | 'text'>> => {
  try {
    const response = await fetch(`${url}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: AbortSignal.timeout(deadlineMs),
    })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return { status: null, text: `no answer: ${cause instanceof Error ? cause.message : String(cause)}` }
  }
}
