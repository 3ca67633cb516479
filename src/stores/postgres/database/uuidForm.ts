/** Canonical form; Postgres rejects a comparison of a uuid with other text. */
export const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
