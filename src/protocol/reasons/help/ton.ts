import type { HelpTable } from '../reasonEntry.js'

export const tonHelp = {
  invalid_boc_format: [
    'The message is not a bag of cells that holds a payment.',
    'Send the external message as a bag of cells in base64.',
  ],
  message_verification_failed: [
    "The signature is not that of the wallet's key.",
    'Sign the message with the key of the wallet.',
  ],
  invalid_exact_tvm_payload_valid_until_too_far: [
    'The message is valid for longer than maxTimeoutSeconds, and for more than five minutes.',
    'Sign with validUntil at most maxTimeoutSeconds ahead.',
  ],
  authorization_mismatch: [
    'authorization differs from the signed message.',
    'Fill the fields of authorization from the signed message, or leave them out.',
  ],
  invalid_exact_tvm_payload_amount_mismatch: [
    'The signed amount is above the required amount.',
    'Sign for exactly the required amount.',
  ],
  invalid_exact_tvm_payload_w5_actions: [
    'The wallet is not asked for exactly one plain, bounceable message, or the form does not fit the wallet.',
    'Let the wallet send exactly one bounceable message, in the form that the payload states.',
  ],
  invalid_exact_tvm_payload_jetton_transfer: [
    'Not a plain jetton transfer, or its forward payload, forward amount or response destination is not the required one.',
    'Sign a plain jetton transfer with forward terms and response destination of the requirements.',
  ],
  insufficient_ton_attached: [
    'Too little TON is attached for the jetton transfer to arrive.',
    'Attach more TON to the jetton transfer.',
  ],
  invalid_exact_tvm_payload_attached_ton_amount_too_high: [
    'More TON is attached than a jetton transfer may cost.',
    'Attach less TON to the jetton transfer.',
  ],
  invalid_exact_tvm_payload_invalid_code_hash: [
    'The wallet is not of version 3R1, 3R2, 4R2 or 5R1.',
    'Pay from a wallet of version 3R1, 3R2, 4R2 or 5R1.',
  ],
  invalid_exact_tvm_payload_wallet_id_mismatch: [
    'The message is signed for another wallet or network.',
    'Sign with the wallet id of this wallet on this network.',
  ],
  invalid_exact_tvm_payload_signature_mode_mismatch: [
    'The wallet accepts no signed messages.',
    'Let the wallet accept signed messages again, or pay from another one.',
  ],
  invalid_exact_tvm_payload_extensions_dict_mismatch: [
    'Wallets with extensions are not relayed.',
    'Pay from a wallet without extensions, or let the wallet pay its own fees.',
  ],
  account_frozen: ["The payer's wallet is frozen.", 'Unfreeze the wallet, or pay from another one.'],
  wallet_not_deployed: [
    "The payer's wallet is not deployed.",
    'Deploy the wallet, then send the same request again.',
  ],
  seqno_already_used: [
    "The message's sequence number was used on chain.",
    "Sign again with the wallet's current sequence number.",
  ],
  seqno_too_high: [
    "The message's sequence number is not the wallet's next one.",
    'Send the same request once the earlier messages of the wallet are executed.',
  ],
  insufficient_jetton_balance: [
    "The payer's jetton balance is below the payment.",
    'Fund the payer with the jetton, then send the same request again.',
  ],
  insufficient_ton_for_gas: [
    "The payer's wallet has too little TON to send the transfer.",
    "Fund the payer's wallet with TON, then send the same request again.",
  ],
} as const satisfies HelpTable
