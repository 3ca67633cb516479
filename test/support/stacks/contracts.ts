/** SIP-010 tokens in Clarity. */

const readOnly = (token: string) => `
(define-read-only (get-balance (who principal)) (ok (ft-get-balance ${token} who)))
(define-read-only (get-decimals) (ok u6))
(define-read-only (get-symbol) (ok "USD"))
(define-read-only (get-name) (ok "USD"))
(define-read-only (get-total-supply) (ok (ft-get-supply ${token})))
(define-read-only (get-token-uri) (ok none))`

/** As the SIP's example: only the sender moves, and the memo is printed. */
export const tokenSource = `
(define-fungible-token usd)
(define-public (transfer (amount uint) (sender principal) (recipient principal) (memo (optional (buff 34))))
  (begin
    (asserts! (is-eq tx-sender sender) (err u4))
    (try! (ft-transfer? usd amount sender recipient))
    (match memo to-print (print to-print) 0x)
    (ok true)))
(define-public (mint (amount uint) (to principal)) (ft-mint? usd amount to))
${readOnly('usd')}`

/** Two tokens in one contract; every account can mint the second. */
export const twoTokensSource = `
(define-fungible-token usd)
(define-fungible-token junk)
(define-public (transfer (amount uint) (sender principal) (recipient principal) (memo (optional (buff 34))))
  (begin (asserts! (is-eq tx-sender sender) (err u4)) (ft-transfer? usd amount sender recipient)))
(define-public (mint (amount uint) (to principal)) (ft-mint? usd amount to))
(define-public (pay-junk (amount uint) (recipient principal))
  (begin (try! (ft-mint? junk amount tx-sender)) (ft-transfer? junk amount tx-sender recipient)))
${readOnly('usd')}`

/** Contracts between the payer and the token. */
export const routerSource = (token: string) => `
(define-public (pay (amount uint) (recipient principal))
  (contract-call? '${token} transfer amount tx-sender recipient none))
(define-public (pay-twice (amount uint) (recipient principal))
  (begin
    (try! (contract-call? '${token} transfer amount tx-sender recipient (some 0x6f726465722d37)))
    (contract-call? '${token} transfer amount tx-sender recipient none)))
(define-public (pay-many (amount uint) (recipient principal))
  (begin
    (map step (list u1 u2 u3 u4 u5 u6 u7 u8 u9 u10 u11 u12 u13 u14 u15 u16 u17 u18 u19 u20 u21 u22 u23 u24 u25
      u26 u27 u28 u29 u30 u31 u32 u33 u34 u35 u36 u37 u38 u39 u40 u41 u42 u43 u44 u45 u46 u47 u48 u49 u50
      u51 u52 u53 u54 u55 u56 u57 u58 u59 u60 u61 u62 u63 u64 u65 u66 u67 u68 u69 u70 u71 u72 u73 u74 u75
      u76 u77 u78 u79 u80 u81 u82 u83 u84 u85 u86 u87 u88 u89 u90 u91 u92 u93 u94 u95 u96 u97 u98 u99 u100))
    (contract-call? '${token} transfer amount tx-sender recipient none)))
(define-private (step (number uint)) (print number))
(define-public (pay-from-here (amount uint) (recipient principal))
  (as-contract (contract-call? '${token} transfer amount tx-sender recipient none)))
(define-public (imitate (amount uint) (recipient principal))
  (begin
    (print { action: "transfer", amount: amount, sender: tx-sender, recipient: recipient })
    (ok true)))`

/** Holds what was paid to it, and gives it back to every caller. */
export const vaultSource = (token: string) => `
(define-constant self (as-contract tx-sender))
(define-public (pay-and-take-back (amount uint))
  (let ((payer tx-sender))
    (try! (contract-call? '${token} transfer amount payer self none))
    (as-contract (contract-call? '${token} transfer amount tx-sender payer none))))`
