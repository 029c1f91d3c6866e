"""What single LaTeX commands print in running text, as tables."""

from __future__ import annotations

ACCENTS = {
    "'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "d": "\u0323", "b": "\u0331", "k": "\u0328",
    "r": "\u030a",
}  # fmt: skip

# Letters: TeX takes the space after them for the end of their name.
LETTERS = {
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å",
    "i": "ı", "j": "ȷ", "ng": "ŋ", "NG": "Ŋ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ",
}  # fmt: skip

SYMBOLS = {
    "S": "§", "P": "¶", "copyright": "©", "textcopyright": "©", "pounds": "£", "textsterling": "£",
    "texteuro": "€", "euro": "€", "dag": "†", "ddag": "‡", "textdagger": "†", "textdaggerdbl": "‡",
    "textasteriskcentered": "∗", "textsection": "§", "ldots": "…", "dots": "…", "textellipsis": "…", "dotsc": "…",
    "dotfill": " … ", "cdots": "⋯", "textperiodcentered": "·", "textendash": "–", "textemdash": "—",
    "textbackslash": "\\", "backslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textasciigrave": "`",
    "textquotesingle": "'", "textquotedbl": '"', "textless": "<", "textgreater": ">", "textbar": "|",
    "textbardbl": "‖", "lbrace": "{", "rbrace": "}", "textbraceleft": "{", "textbraceright": "}", "lbrack": "[",
    "rbrack": "]", "textbullet": "•", "bullet": "•", "textquoteleft": "‘", "textquoteright": "’",
    "textquotedblleft": "“", "textquotedblright": "”", "quotedblbase": "„", "quotesinglbase": "‚",
    "guillemotleft": "«", "guillemotright": "»", "lq": "‘", "rq": "’", "textregistered": "®", "texttrademark": "™",
    "textdegree": "°", "degree": "°", "textpm": "±", "texttimes": "×", "textmu": "µ", "LaTeX": "LaTeX",
    "LaTeXe": "LaTeX2e", "TeX": "TeX", "BibTeX": "BibTeX", "checkmark": "✓", "cmark": "✓", "xmark": "✗",
    "textunderscore": "_", "textdollar": "\\$", "textpercent": "%", "slash": "/", "textvisiblespace": "␣",
    "textnumero": "№", "textrightarrow": "→", "textleftarrow": "←", "textuparrow": "↑", "textdownarrow": "↓",
    "today": "", "textcelsius": "°C", "quad": " ", "qquad": " ", "enspace": " ", "space": " ", "thinspace": " ",
    "enskip": " ", "hfill": " ", "hfil": " ", "newline": "\n", "linebreak": " ", "break": " ", "par": "\n\n",
    "eg": "e.g.", "ie": "i.e.", "etal": "et al.", "answerYes": "[Yes] ", "answerNo": "[No] ", "answerNA": "[N/A] ",
    "answerTODO": "[TODO] ", "percent": "%",
}  # fmt: skip

# Signs of maths that some write into plain text.
MATH_SIGNS = frozenset(
    "rightarrow leftarrow Rightarrow Leftarrow leftrightarrow longrightarrow uparrow downarrow to pm mp sim "
    "approx leq geq le ge neq infty alpha beta gamma delta epsilon varepsilon zeta eta theta iota kappa lambda mu "
    "nu xi pi rho sigma tau upsilon phi varphi chi psi omega Delta Gamma Lambda Omega Phi Pi Psi Sigma Theta Xi "
    "cdot star ast circ times div ell partial nabla in implies iff mapsto triangle triangleup triangledown square "
    "blacksquare diamond heartsuit clubsuit spadesuit dagger ddagger subset subseteq cup cap forall exists neg "
    "perp parallel oplus otimes top bot Longrightarrow nearrow searrow prime".split(" ")
)

DING = {
    "51": "✓", "52": "✓", "55": "✗", "56": "✗", "108": "●", "172": "①", "173": "②", "174": "③", "175": "④",
    "176": "⑤", "182": "❶", "183": "❷", "184": "❸", "185": "❹", "186": "❺", "192": "①", "193": "②", "194": "③",
    "202": "❶", "203": "❷", "204": "❸", "205": "❹",
}  # fmt: skip

# Commands that show one of their brace groups: how many groups they take; it is the last one that shows.
SHOW_LAST = {
    "textcolor": 2, "colorbox": 2, "fcolorbox": 3, "resizebox": 3, "scalebox": 2, "rotatebox": 2, "adjustbox": 2,
    "parbox": 2, "makebox": 1, "framebox": 1, "mbox": 1, "fbox": 1, "hbox": 1, "multicolumn": 3, "multirow": 3,
    "hyperlink": 2, "hypertarget": 2, "foreignlanguage": 2, "raisebox": 2, "makecell": 1, "thead": 1,
    "shortstack": 1, "underline": 1, "uline": 1, "uuline": 1, "uwave": 1, "textsc": 1, "textrm": 1, "textsf": 1,
    "textmd": 1, "textup": 1, "textnormal": 1, "text": 1, "hl": 1, "added": 1, "bibinfo": 2, "bibfield": 2,
    "bibnamefont": 1, "bibfnamefont": 1, "citenamefont": 1, "natexlab": 1, "enquote": 1, "Eprint": 2, "showURL": 1,
    "showDOI": 1, "eqnmarkbox": 2,
}  # fmt: skip
# ... and those where it is another: ``(groups, which)``.
SHOW_ONE = {"texorpdfstring": (2, 0), "ifthenelse": (3, 1)}

# Commands that print nothing: how many brace groups go with them.
DROPPED = {
    name: count
    for count, names in {
        1: "label includegraphics thispagestyle hspace vspace pagestyle bibliographystyle bibliography color pagecolor rowcolor "
        "cellcolor columncolor usepackage hyphenation graphicspath captionsetup nocite index hypersetup "
        "stepcounter refstepcounter vphantom hphantom phantom cmidrule cline markright enlargethispage setlist "
        "lstset tikzset usetikzlibrary bstctlcite newcounter theoremstyle pagenumbering pgfplotsset newlength "
        "todo icmlkeywords address email ead thanks orcidID orcid orcidlink printAffiliationsAndNotice institute "
        "authorrunning titlerunning affiliation affil institution city country ccsdesc received acmDOI acmISBN "
        "copyrightyear setcopyright shortauthors shorttitle symbol special tikz urlstyle epsfig psfig includepdf "
        "zihao ctexset linespread marginnote documentclass pdfinfo stretch input include mathversion CJKfamily "
        "selectlanguage BibitemShut bibcommenthead sethlcolor setstretch fancyhead fancyfoot lhead rhead cfoot "
        "setulcolor",
        2: "setlength addtolength setcounter addtocounter fontsize pdfbookmark markboth renewcommand newcommand settowidth rule "
        "colorlet addtocontents PackageWarning counterwithin numberwithin",
        3: "addcontentsline definecolor crefname Crefname acmConference printcontents annotate",
        4: "animategraphics usefont",
    }.items()
    for name in names.split()
}

# Words of TeX that take a length or a number without braces.
LENGTHS = frozenset(
    "vskip hskip kern mkern penalty parskip parindent baselineskip itemsep parsep topsep leftmargin rightmargin "
    "leftskip rightskip tabcolsep arraycolsep textwidth linewidth columnwidth textheight hsize vsize "
    "abovedisplayskip belowdisplayskip partopsep abovecaptionskip belowcaptionskip intextsep textfloatsep "
    "floatsep columnsep extrarowheight arrayrulewidth labelsep lineskip hangindent hangafter looseness tolerance "
    "hbadness vbadness emergencystretch clubpenalty widowpenalty interlinepenalty fboxsep fboxrule jot "
    "multlinegap unitlength topmargin oddsidemargin evensidemargin abovedisplayshortskip belowdisplayshortskip "
    "aboverulesep belowrulesep lineskiplimit pretolerance".split(" ")
)
