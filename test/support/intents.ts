import { x402Client } from '@x402/core/client'
import type { z } from 'zod'
import {
  executedIntent,
  type IntentRequest,
  type IntentRequirements,
  type IntentRoute,
  intentWithRoutes,
  routedIntent,
} from '../../src/protocol/intents.js'
import type { DemoWorld } from '../demo/world.js'

interface IntentCustomer {
  /** Base URL of the service. */
  readonly url: string
  readonly terms: Partial<IntentRequest> & Pick<IntentRequest, 'payer' | 'payee' | 'asset'>
  /** Signs as a published client does; returns the payment payload. */
  readonly sign: (requirements: IntentRequirements) => Promise<unknown>
  /** Default: the recommended route. */
  readonly choose?: (routes: readonly IntentRoute[]) => IntentRoute | undefined
  /** Such as an API key. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Throws unless the status is one of success. */
export const callIntents = async <Schema extends z.ZodType>(
  { url, headers = {} }: Pick<IntentCustomer, 'url' | 'headers'>,
  path: string,
  { body, shape }: { readonly body?: unknown; readonly shape: Schema },
): Promise<z.infer<Schema>> => {
  const response = await fetch(`${url}/v1/intent${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer: unknown = await response.json()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`)
  return shape.parse(answer)
}

/** Pays one cent of a token with six decimals, unless told otherwise: create, route, sign, execute. */
export const payByIntent = async (customer: IntentCustomer) => {
  const { terms, sign, choose = ([best]) => best } = customer
  const created = await callIntents(customer, '', {
    body: { amount: '10000', ...terms },
    shape: intentWithRoutes,
  })
  const route = choose(created.availableRoutes)
  if (route === undefined) throw new Error(`No route: ${JSON.stringify(created.unavailable)}`)
  const path = `/${created.intent.id}`
  const routed = await callIntents(customer, `${path}/route`, {
    body: { routeId: route.id },
    shape: routedIntent,
  })
  const paymentPayload = await sign(routed.paymentRequirements)
  const execute = () =>
    callIntents(customer, `${path}/execute`, { body: { paymentPayload }, shape: executedIntent })
  return { created, routed, paymentPayload, execute, executed: await execute() }
}

/** Signs with the published client of a world. */
export const signAsCustomer =
  ({ network, client }: Pick<DemoWorld, 'network' | 'client'>): IntentCustomer['sign'] =>
  async (requirements) =>
    await new x402Client().register(network, client).createPaymentPayload({
      x402Version: 2,
      resource: { url: 'https://shop.example/report', description: '', mimeType: '' },
      accepts: [{ ...requirements, network }],
    })
