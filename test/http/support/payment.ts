import { paymentRequests } from '../../../src/http/schemas/paymentExamples.js'

export const paymentBody = () => structuredClone(paymentRequests.version2.value)

export const paymentBodyWith = (requirements: Readonly<Record<string, unknown>>) => {
  const body = paymentBody()
  return { ...body, paymentRequirements: { ...body.paymentRequirements, ...requirements } }
}
