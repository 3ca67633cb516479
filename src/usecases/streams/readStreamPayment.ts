import { isRefused, readPayment } from '../../protocol/legacy.js'
import type { Payment } from '../../protocol/payment.js'
import { wirePaymentRequest } from '../../protocol/wire.js'

/** The stored body of the open request, as a payment of an amount. Throws if it is unreadable. */
export const readStreamPayment = (stored: unknown, settleAmount: bigint): Payment => {
  const payment = readPayment(wirePaymentRequest.parse(stored))
  if (isRefused(payment)) throw new Error(`The stored payment of the stream is unreadable: ${payment.reason}`)
  return { ...payment, settleAmount }
}
