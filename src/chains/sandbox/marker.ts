/** First bytes of every hash of the sandbox: `5a4db0` reads as "sandbo". */
export const marker = Buffer.from('5a4db0', 'hex')
