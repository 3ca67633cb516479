import { paymentRequests } from '../../../src/http/schemas/examples.js'

/** A body of /verify and /settle that everything about the HTTP side accepts. */
export const paymentBody = () => structuredClone(paymentRequests.version2.value)

/** The same with other requirements. */
export const paymentBodyWith = (requirements: Readonly<Record<string, unknown>>) => {
  const body = paymentBody()
  return { ...body, paymentRequirements: { ...body.paymentRequirements, ...requirements } }
}
