import { z } from 'zod'
import { wireRequirements } from '../../protocol/wire.js'

/* Documentation only: an invalid payload is a rejected payment (HTTP 200), not a bad request. */

const address = z.string().meta({ examples: ['0x18f77dd01186556F1F745E7847A4686421dEE072'] })
const decimal = z.string().regex(/^[0-9]{1,78}$/)
const seconds = decimal.meta({ description: 'Unix time in seconds, decimal digits' })
const signature = z.string().meta({
  description:
    'EIP-712 signature in hex: 65 bytes for an EOA, or a contract wallet signature (EIP-1271, EIP-6492)',
})
const nonce = z.string().meta({ description: '32 random bytes in hex, unused by this payer' })

const exactEvmProof = z
  .looseObject({
    signature,
    authorization: z.looseObject({
      from: address.meta({ description: 'The payer' }),
      to: address.meta({ description: 'The recipient; equals `payTo`' }),
      value: decimal.meta({
        description: 'Smallest units; at least `amount`; the full value is transferred',
      }),
      validAfter: seconds,
      validBefore: seconds,
      nonce,
    }),
  })
  .meta({
    id: 'ExactEvmProof',
    description:
      'An EIP-3009 `TransferWithAuthorization`, signed by the payer. The proof of scheme `exact` on EVM.',
  })

const uptoPermitProof = z
  .looseObject({
    signature: z
      .looseObject({ v: z.int(), r: z.string(), s: z.string() })
      .meta({ description: 'EIP-712 signature of `Permit`, by the owner' }),
    authorization: z.looseObject({
      owner: address.meta({ description: 'The payer' }),
      spender: address.meta({ description: 'The router: `extra.routerAddress`' }),
      value: decimal.meta({ description: 'Smallest units; equals `maxAmount`' }),
      deadline: seconds,
      nonce: z
        .union([z.int(), decimal])
        .meta({ description: "The owner's current permit nonce of the token" }),
    }),
    paymentNonce: z.string().meta({ description: '32 bytes in hex, not signed' }),
  })
  .meta({
    id: 'UptoPermitProof',
    description: 'An EIP-2612 `Permit`, signed by the payer. A proof of scheme `upto` on EVM.',
  })

const exactSolanaProof = z
  .looseObject({
    transaction: z.string().meta({
      description:
        'A transaction in base64, signed by the payer: compute-unit limit and price, one TransferChecked of the amount ' +
        'to the associated token account of `payTo`, and optionally a memo. Its fee payer is the `extra.feePayer` of ' +
        '`/supported`; the fee payer signature is empty.',
    }),
  })
  .meta({
    id: 'ExactSolanaProof',
    description: 'A partially signed transaction. The proof of scheme `exact` on Solana.',
  })

const exactTonProof = z
  .looseObject({
    signedBoc: z.string().meta({
      description:
        'The external message to the payer’s wallet in base64, or its signed body alone, with one jetton transfer; the payer’s wallet pays the fees',
    }),
    authorization: z.looseObject({}).meta({
      description:
        'A copy of the message contents. from, to, jettonMaster and jettonAmount must match the message, which is authoritative; other fields are ignored',
    }),
  })
  .meta({
    id: 'ExactTonProof',
    description: 'A signed message to the payer’s wallet. A proof of scheme `exact` on TON.',
  })

const sponsoredTonProof = z
  .looseObject({
    settlementBoc: z.string().meta({
      description:
        'An internal message to the payer’s V5R1 wallet in base64, signed as `internal_signed`, with the wallet’s state when it is not deployed',
    }),
    asset: z.string().meta({ description: 'The jetton master; equals `asset`' }),
  })
  .meta({
    id: 'SponsoredTonProof',
    description: 'A signed message that we relay and pay for. A proof of scheme `exact` on TON.',
  })

const exactTronProof = z
  .looseObject({
    signedTransaction: z.union([z.string(), z.looseObject({})]).meta({
      description:
        'The whole signed transaction in hex protobuf, or the JSON of TronWeb signers (`raw_data_hex` and `signature` are read): one TriggerSmartContract that calls the token’s transfer',
    }),
    authorization: z.looseObject({}).meta({
      description:
        'A copy of the transaction contents. from, to, contractAddress and amount must match the transaction, which is authoritative; other fields are ignored',
    }),
  })
  .meta({
    id: 'ExactTronProof',
    description: 'A signed TRC-20 transfer. The proof of scheme `exact` on TRON.',
  })

const aliasOfHash = z.string().optional().meta({ description: 'Accepted in place of `txHash`' })

const exactDirectProof = z
  .looseObject({
    txHash: z
      .string()
      .optional()
      .meta({ description: 'Hash of the transaction; required unless one of its aliases names it' }),
    opHash: aliasOfHash,
    extrinsicHash: aliasOfHash,
    txId: aliasOfHash,
    from: z.string().meta({ description: 'The payer' }),
    to: z.string().meta({ description: 'The recipient; equals `payTo`' }),
    amount: z.union([decimal, z.int()]).meta({
      description: 'Smallest units. Only the amount that the chain reports counts',
    }),
    claim: z
      .looseObject({
        signature: z.string(),
        publicKey: z.string().optional().meta({ description: 'Where the address does not contain it' }),
      })
      .optional()
      .meta({
        description: 'Signature of the payer over the payment, where the recipient requires signed claims',
      }),
  })
  .meta({
    id: 'ExactDirectProof',
    description:
      'A transfer that the client executed itself. The proof of scheme `exact-direct` on NEAR, Aptos, Tezos, ' +
      'Polkadot, Stacks and Cosmos.',
  })

const proof = z.union([
  exactEvmProof,
  uptoPermitProof,
  exactSolanaProof,
  exactTonProof,
  sponsoredTonProof,
  exactTronProof,
  exactDirectProof,
])

const flatEvmProof = z
  .looseObject({
    signature,
    from: address,
    to: address,
    value: z.union([decimal, z.int()]),
    validAfter: z.union([z.int(), seconds]),
    validBefore: z.union([z.int(), seconds]),
    nonce,
  })
  .meta({
    id: 'FlatEvmProof',
    description: 'The same authorization with its fields beside the signature, and times as numbers.',
  })

const version = (number: 1 | 2) =>
  z
    .literal(number)
    .optional()
    .meta({ type: 'integer', description: 'Any one of the three names is accepted' })

const resource = z.looseObject({
  url: z
    .string()
    .optional()
    .meta({ examples: ['https://api.example.com/report'] }),
  description: z.string().optional(),
  mimeType: z.string().optional(),
})

export const payloadVersion2 = z
  .looseObject({
    payVersion: version(2),
    x402Version: version(2),
    t402Version: version(2),
    resource: resource.optional().meta({ description: 'What is paid for' }),
    accepted: wireRequirements,
    payload: proof,
  })
  .meta({
    id: 'PaymentPayloadV2',
    title: 'Version 2',
    description:
      'The current shape. `accepted` repeats the requirements that the client accepted; it must match ' +
      '`paymentRequirements` in scheme, network, amount, asset and payTo. Under `upto` its amount may be higher.',
  })

export const payloadVersion1 = z
  .looseObject({
    payVersion: version(1),
    x402Version: version(1),
    t402Version: version(1),
    scheme: z.string().meta({ examples: ['exact'] }),
    network: z.string().meta({ description: 'Short name or CAIP-2', examples: ['base-sepolia'] }),
    payload: proof,
  })
  .meta({
    id: 'PaymentPayloadV1',
    title: 'Version 1',
    description: 'The original shape: scheme and network beside the proof, short network names.',
  })

export const payloadFlat = z
  .looseObject({
    payVersion: z.int().optional(),
    scheme: z.string().meta({ examples: ['exact'] }),
    network: z.string().meta({ examples: ['eip155:84532'] }),
    payload: flatEvmProof,
  })
  .meta({
    id: 'PaymentPayloadFlat',
    title: 'Flat',
    description: 'Like version 1, with the fields of the authorization beside the signature.',
  })
