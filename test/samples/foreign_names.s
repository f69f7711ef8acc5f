# Functions with the names that rustc (v0 and legacy mangling) and the Go linker give, without debug
# information: what names look like must not depend on those compilers being installed.
        .text
        .globl  _RINvNtCskaE4D5CAPs_9spellings4shop7largestdEB4_
        .type   _RINvNtCskaE4D5CAPs_9spellings4shop7largestdEB4_, @function
_RINvNtCskaE4D5CAPs_9spellings4shop7largestdEB4_:
        leal    1(%rdi), %eax
        ret
        .size   _RINvNtCskaE4D5CAPs_9spellings4shop7largestdEB4_, .-_RINvNtCskaE4D5CAPs_9spellings4shop7largestdEB4_
        .globl  _RINvNtCskaE4D5CAPs_9spellings4shop7largestyEB4_
        .type   _RINvNtCskaE4D5CAPs_9spellings4shop7largestyEB4_, @function
_RINvNtCskaE4D5CAPs_9spellings4shop7largestyEB4_:
        leal    1(%rdi), %eax
        ret
        .size   _RINvNtCskaE4D5CAPs_9spellings4shop7largestyEB4_, .-_RINvNtCskaE4D5CAPs_9spellings4shop7largestyEB4_
        .globl  _RNvMs0_CskaE4D5CAPs_9spellingsNtB5_5Order3new
        .type   _RNvMs0_CskaE4D5CAPs_9spellingsNtB5_5Order3new, @function
_RNvMs0_CskaE4D5CAPs_9spellingsNtB5_5Order3new:
        leal    1(%rdi), %eax
        ret
        .size   _RNvMs0_CskaE4D5CAPs_9spellingsNtB5_5Order3new, .-_RNvMs0_CskaE4D5CAPs_9spellingsNtB5_5Order3new
        .globl  _RNvXCskaE4D5CAPs_9spellingsNtB2_5OrderNtB2_6Priced5price
        .type   _RNvXCskaE4D5CAPs_9spellingsNtB2_5OrderNtB2_6Priced5price, @function
_RNvXCskaE4D5CAPs_9spellingsNtB2_5OrderNtB2_6Priced5price:
        leal    1(%rdi), %eax
        ret
        .size   _RNvXCskaE4D5CAPs_9spellingsNtB2_5OrderNtB2_6Priced5price, .-_RNvXCskaE4D5CAPs_9spellingsNtB2_5OrderNtB2_6Priced5price
        .globl  _RNCNvCskaE4D5CAPs_9spellings4main0
        .type   _RNCNvCskaE4D5CAPs_9spellings4main0, @function
_RNCNvCskaE4D5CAPs_9spellings4main0:
        leal    1(%rdi), %eax
        ret
        .size   _RNCNvCskaE4D5CAPs_9spellings4main0, .-_RNCNvCskaE4D5CAPs_9spellings4main0
        .globl  "_ZN50_$LT$legacy..Basket$u20$as$u20$legacy..Weighed$GT$5weigh17h08e6b6b8d9ee3681E"
        .type   "_ZN50_$LT$legacy..Basket$u20$as$u20$legacy..Weighed$GT$5weigh17h08e6b6b8d9ee3681E", @function
"_ZN50_$LT$legacy..Basket$u20$as$u20$legacy..Weighed$GT$5weigh17h08e6b6b8d9ee3681E":
        leal    1(%rdi), %eax
        ret
        .size   "_ZN50_$LT$legacy..Basket$u20$as$u20$legacy..Weighed$GT$5weigh17h08e6b6b8d9ee3681E", .-"_ZN50_$LT$legacy..Basket$u20$as$u20$legacy..Weighed$GT$5weigh17h08e6b6b8d9ee3681E"
        .globl  _ZN6legacy6Basket4fill17hc7d852f14bb7d880E
        .type   _ZN6legacy6Basket4fill17hc7d852f14bb7d880E, @function
_ZN6legacy6Basket4fill17hc7d852f14bb7d880E:
        leal    1(%rdi), %eax
        ret
        .size   _ZN6legacy6Basket4fill17hc7d852f14bb7d880E, .-_ZN6legacy6Basket4fill17hc7d852f14bb7d880E
        .globl  _ZN6legacy5least17hb77f7ec125e5fda4E
        .type   _ZN6legacy5least17hb77f7ec125e5fda4E, @function
_ZN6legacy5least17hb77f7ec125e5fda4E:
        leal    1(%rdi), %eax
        ret
        .size   _ZN6legacy5least17hb77f7ec125e5fda4E, .-_ZN6legacy5least17hb77f7ec125e5fda4E
        .globl  _ZN6legacy5least17hecc3093d590b69d9E
        .type   _ZN6legacy5least17hecc3093d590b69d9E, @function
_ZN6legacy5least17hecc3093d590b69d9E:
        leal    1(%rdi), %eax
        ret
        .size   _ZN6legacy5least17hecc3093d590b69d9E, .-_ZN6legacy5least17hecc3093d590b69d9E
        .globl  "main.(*Cart).Add"
        .type   "main.(*Cart).Add", @function
"main.(*Cart).Add":
        leal    1(%rdi), %eax
        ret
        .size   "main.(*Cart).Add", .-"main.(*Cart).Add"
        .globl  "main.Cart.Total"
        .type   "main.Cart.Total", @function
"main.Cart.Total":
        leal    1(%rdi), %eax
        ret
        .size   "main.Cart.Total", .-"main.Cart.Total"
        .globl  "main.Most[go.shape.int]"
        .type   "main.Most[go.shape.int]", @function
"main.Most[go.shape.int]":
        leal    1(%rdi), %eax
        ret
        .size   "main.Most[go.shape.int]", .-"main.Most[go.shape.int]"
        .globl  "main.Most[go.shape.float64]"
        .type   "main.Most[go.shape.float64]", @function
"main.Most[go.shape.float64]":
        leal    1(%rdi), %eax
        ret
        .size   "main.Most[go.shape.float64]", .-"main.Most[go.shape.float64]"
        .globl  "example.com/shop-v2/cmd.d/stock.(*Shelf[go.shape.string]).Take"
        .type   "example.com/shop-v2/cmd.d/stock.(*Shelf[go.shape.string]).Take", @function
"example.com/shop-v2/cmd.d/stock.(*Shelf[go.shape.string]).Take":
        leal    1(%rdi), %eax
        ret
        .size   "example.com/shop-v2/cmd.d/stock.(*Shelf[go.shape.string]).Take", .-"example.com/shop-v2/cmd.d/stock.(*Shelf[go.shape.string]).Take"
        .globl  "example.com/shop-v2/cmd.d/stock.Count"
        .type   "example.com/shop-v2/cmd.d/stock.Count", @function
"example.com/shop-v2/cmd.d/stock.Count":
        leal    1(%rdi), %eax
        ret
        .size   "example.com/shop-v2/cmd.d/stock.Count", .-"example.com/shop-v2/cmd.d/stock.Count"
        .globl  "main.main.func1"
        .type   "main.main.func1", @function
"main.main.func1":
        leal    1(%rdi), %eax
        ret
        .size   "main.main.func1", .-"main.main.func1"
        .globl  main
        .type   main, @function
main:
        pushq   %rbx
        call    _RINvNtCskaE4D5CAPs_9spellings4shop7largestdEB4_
        call    _RINvNtCskaE4D5CAPs_9spellings4shop7largestyEB4_
        call    _RNvMs0_CskaE4D5CAPs_9spellingsNtB5_5Order3new
        call    _RNvXCskaE4D5CAPs_9spellingsNtB2_5OrderNtB2_6Priced5price
        call    _RNCNvCskaE4D5CAPs_9spellings4main0
        call    "_ZN50_$LT$legacy..Basket$u20$as$u20$legacy..Weighed$GT$5weigh17h08e6b6b8d9ee3681E"
        call    _ZN6legacy6Basket4fill17hc7d852f14bb7d880E
        call    _ZN6legacy5least17hb77f7ec125e5fda4E
        call    _ZN6legacy5least17hecc3093d590b69d9E
        call    "main.(*Cart).Add"
        call    "main.Cart.Total"
        call    "main.Most[go.shape.int]"
        call    "main.Most[go.shape.float64]"
        call    "example.com/shop-v2/cmd.d/stock.(*Shelf[go.shape.string]).Take"
        call    "example.com/shop-v2/cmd.d/stock.Count"
        call    "main.main.func1"
        xorl    %eax, %eax
        popq    %rbx
        ret
        .size   main, .-main
        .section .note.GNU-stack,"",@progbits
