import { type Exchange, readAnswer, type Send } from './exchange.js'
import { type Json, readText } from './json.js'
import { explainError, explainSettle, explainSettlement, explainVerify, type Meaning } from './meaning.js'
import { type PaymentBody, type Requirements, readRequirements, resource } from './payment.js'
import type { Drafted, Plan } from './plan.js'
import { WalkError } from './typedData.js'

export const stepNames = ['required', 'sign', 'verify', 'settle'] as const
export type StepName = (typeof stepNames)[number]

/** A header of the protocol, whose value is JSON in base64. */
export interface ProtocolHeader {
  readonly name: 'PAYMENT-REQUIRED' | 'PAYMENT-SIGNATURE' | 'PAYMENT-RESPONSE'
  readonly value: Json
}

export interface StepResult {
  readonly exchanges: readonly Exchange[]
  readonly header: ProtocolHeader | null
  readonly meaning: Meaning
  /** Whether a server and its client would go on. */
  readonly isPassed: boolean
}

/** What the steps so far have found. */
export interface Found {
  readonly drafted: Drafted | null
  /** The body of `/accepts` that was sent. */
  readonly draftBody: Json | null
  readonly requirements: Requirements | null
  readonly payment: PaymentBody | null
  readonly settlementId: string | null
  readonly idempotencyKey: string
}

export const nothingFound = (): Found => ({
  drafted: null,
  draftBody: null,
  requirements: null,
  payment: null,
  settlementId: null,
  idempotencyKey: newOrder(),
})

/** A server uses the id of its order. */
export const newOrder = (): string =>
  `order-${Array.from(crypto.getRandomValues(new Uint32Array(2))).join('-')}`

export interface Taken {
  readonly result: StepResult
  readonly found: Partial<Found>
}

interface StepInput {
  readonly plan: Plan
  readonly found: Found
  readonly send: Send
}

export const takeStep = async (name: StepName, input: StepInput): Promise<Taken> => {
  try {
    return await steps[name](input)
  } catch (error) {
    const isKnown = error instanceof WalkError
    // The browser's console says the rest.
    if (!isKnown) reportError(error)
    const text = isKnown ? error.message : 'This step failed in the page: load it again'
    return stopWith({ tone: 'bad', title: 'Stopped', text: `${text}.`, code: null })
  }
}

const stopWith = (meaning: Meaning, exchanges: readonly Exchange[] = []): Taken => ({
  result: { exchanges, header: null, meaning, isPassed: false },
  found: {},
})

const takeRequired = async ({ plan, send }: StepInput): Promise<Taken> => {
  const drafted = await plan.draft(send)
  const last = drafted.exchanges.at(-1)
  if (drafted.draft === null) return stopWith(explainUnexpected(last), drafted.exchanges)
  const draftBody = { x402Version: 2, resource, accepts: [drafted.draft] }
  const exchange = await send({ method: 'POST', path: '/accepts', body: draftBody })
  const exchanges = [...drafted.exchanges, exchange]
  const requirements = readRequirements(readAnswer(exchange))
  if (requirements === null) return stopWith(explainUnexpected(exchange), exchanges)
  return {
    result: {
      exchanges,
      header: {
        name: 'PAYMENT-REQUIRED',
        value: { x402Version: 2, error: 'Payment required', resource, accepts: [requirements] },
      },
      meaning: {
        tone: 'good',
        title: '402 Payment Required',
        text: 'Your server answers a request without payment so, with this header.',
        code: null,
      },
      isPassed: true,
    },
    found: { ...nothingFound(), drafted, draftBody, requirements },
  }
}

const takeSign = async ({ plan, found: { drafted, requirements } }: StepInput): Promise<Taken> => {
  if (drafted === null || requirements === null) throw new WalkError('Take the step before first')
  const paymentPayload = await plan.sign(requirements, drafted)
  return {
    result: {
      exchanges: [],
      header: { name: 'PAYMENT-SIGNATURE', value: paymentPayload },
      meaning: {
        tone: 'good',
        title: plan.advanceSeconds !== null || drafted.paymentPath !== null ? 'Written' : 'Signed',
        text: 'The client sends its request again, with this header.',
        code: null,
      },
      isPassed: true,
    },
    found: {
      payment: { x402Version: 2, paymentPayload, paymentRequirements: { ...requirements } },
      settlementId: null,
      idempotencyKey: newOrder(),
    },
  }
}

const takeVerify = async ({ found: { payment }, send }: StepInput): Promise<Taken> => {
  if (payment === null) throw new WalkError('Take the step before first')
  const exchange = await send({ method: 'POST', path: '/verify', body: payment })
  const isPassed = readAnswer(exchange)?.isValid === true
  return {
    result: { exchanges: [exchange], header: null, meaning: explainVerify(exchange), isPassed },
    found: {},
  }
}

const takeSettle = async ({ found: { payment, idempotencyKey }, send }: StepInput): Promise<Taken> => {
  if (payment === null) throw new WalkError('Take the step before first')
  const headers = { 'idempotency-key': idempotencyKey }
  const exchange = await send({ method: 'POST', path: '/settle', headers, body: payment })
  const answer = readAnswer(exchange)
  return {
    result: {
      exchanges: [exchange],
      header: answer === null ? null : { name: 'PAYMENT-RESPONSE', value: answer },
      meaning: explainSettle(exchange),
      isPassed: answer?.success === true,
    },
    found: { settlementId: readText(answer, 'settlementId') },
  }
}

const steps: Readonly<Record<StepName, (input: StepInput) => Promise<Taken>>> = {
  required: takeRequired,
  sign: takeSign,
  verify: takeVerify,
  settle: takeSettle,
}

/** Moves the clock of the scenario, and asks what became of the payment. */
export const takeAdvance = async ({ plan, found, send }: StepInput): Promise<Taken | null> => {
  const { drafted, settlementId } = found
  const scenarioId = drafted?.scenarioId ?? null
  if (scenarioId === null || settlementId === null || plan.advanceSeconds === null) return null
  const body = { scenarioId, seconds: plan.advanceSeconds }
  const advanced = await send({ method: 'POST', path: '/sandbox/clock/advance', body })
  const error = explainError(advanced)
  if (error !== null) return stopWith(error, [advanced])
  const asked = await send({ method: 'GET', path: `/v1/settlements/${encodeURIComponent(settlementId)}` })
  const isPassed = readText(readAnswer(asked), 'status') === 'confirmed'
  return {
    result: { exchanges: [advanced, asked], header: null, meaning: explainSettlement(asked), isPassed },
    found: {},
  }
}

const explainUnexpected = (exchange: Exchange | undefined): Meaning =>
  (exchange === undefined ? null : explainError(exchange)) ?? {
    tone: 'bad',
    title: 'Unexpected answer',
    text: 'The service answered in a form that this page does not know: load it again.',
    code: null,
  }
