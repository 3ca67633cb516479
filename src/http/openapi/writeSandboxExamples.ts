import { randomBytes } from 'node:crypto'
import { exampleNonce, examplePayer, examplePaymentNonce } from '../schemas/examples.js'
import { exampleKey } from '../schemas/idempotency.js'

/** Its payments need no signature, and settle. */
const fixedPayer = '0x0000000000000000000000000000000000CAFE11'

const payers = new RegExp(examplePayer, 'gi')
const nonces = new RegExp(`${exampleNonce}|${examplePaymentNonce}`, 'g')

/**
 * The document with examples that succeed in the sandbox: the payer is one of its own, and every nonce and
 * Idempotency-Key is new, so that one reader's payment is not another's.
 */
export const writeSandboxExamples = (document: string): string =>
  document
    .replaceAll(payers, fixedPayer)
    .replaceAll(nonces, () => `0x${randomBytes(32).toString('hex')}`)
    .replaceAll(exampleKey, () => `order-${randomBytes(6).toString('hex')}`)
