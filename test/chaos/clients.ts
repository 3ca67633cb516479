import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, isFinal } from './answers.js'
import type { Payment } from './payments.js'
import type { World } from './world.js'

/** What the clients of a round share. */
export interface ClientSurroundings {
  readonly instances: World['instances']
  /** Receives every answer when it arrives. */
  readonly onAnswer: (answer: Answer) => void
  /** Aborted when nobody asks again. */
  readonly patience: AbortSignal
}

interface Asking {
  readonly instance: 0 | 1
  readonly key: string | null
  readonly hangUpAfterMs?: number
}

const answerDeadlineMs = 15_000

let requests = 0

/** Lives one client's life: asks as its habit says, until it has its answer or nobody is patient any more. */
export const runClient = async (payment: Payment, surroundings: ClientSurroundings): Promise<void> => {
  const { random, habit, first } = payment
  const other = first === 0 ? 1 : 0
  const key = `${payment.name}-${random.hex(4).slice(2)}`
  const rivalKey = `${key}-rival`
  const hangUp = { hangUpAfterMs: random.integer(5, 1_500) }
  const [mine, theirs] = [random.fork(), random.fork()]
  const until = (asking: Asking, choices = mine) =>
    askUntilFinal(payment, asking, { ...surroundings, choices })

  switch (habit) {
    case 'once':
      await ask(payment, { instance: first, key: null }, surroundings)
      return
    case 'persistent':
      await until({ instance: first, key: null })
      return
    case 'hangsUp':
      await ask(payment, { instance: first, key: null, ...hangUp }, surroundings)
      await until({ instance: other, key: null })
      return
    case 'keyed':
      await until({ instance: first, key })
      await until({ instance: other, key })
      return
    case 'keyedHangsUp':
      await ask(payment, { instance: first, key, ...hangUp }, surroundings)
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

const askUntilFinal = async (
  payment: Payment,
  asking: Asking,
  { choices, ...surroundings }: ClientSurroundings & { readonly choices: Payment['random'] },
): Promise<void> => {
  let { instance } = asking
  for (;;) {
    const answer = await ask(payment, { ...asking, instance }, surroundings)
    if (isFinal(answer) || surroundings.patience.aborted) return
    await sleep(choices.integer(100, 800))
    instance = choices.pick([0, 1])
  }
}

const ask = async (
  { name, authorizationId, body }: Payment,
  { instance, key, hangUpAfterMs = answerDeadlineMs }: Asking,
  { instances, onAnswer }: ClientSurroundings,
): Promise<Answer> => {
  requests += 1
  const asked = { payment: name, authorizationId, key, consumer: key ?? `request ${requests}` }
  const sentAt = Date.now()
  const told = await post(instances[instance].url, { body, key, deadlineMs: hangUpAfterMs })
  const answer = { ...asked, instance: instances[instance].name, sentAt, receivedAt: Date.now(), ...told }
  onAnswer(answer)
  return answer
}

const post = async (
  url: string,
  {
    body,
    key,
    deadlineMs,
  }: { readonly body: string; readonly key: string | null; readonly deadlineMs: number },
): Promise<Pick<Answer, 'status' | 'text'>> => {
  try {
    const response = await fetch(`${url}/settle`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === null ? {} : { 'idempotency-key': key }) },
      body,
      signal: AbortSignal.timeout(deadlineMs),
    })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return { status: null, text: `no answer: ${cause instanceof Error ? cause.message : String(cause)}` }
  }
}
